/**
 * One stream of server reflection: the next request is taken when the client has taken the answer
 * to the last one, so that a client that only asks costs this process one answer and the few
 * requests that grpc-js reads ahead. Answers come from memory at once and ask nothing of services.
 */

import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Refusal } from "../../wire/api.ts";
import type { Reflector } from "../../wire/standard/reflection.ts";
import { refusalToStatus } from "../../wire/status-details.ts";
import type { Admission } from "./admission.ts";
import { type BugReports, bugToRefusal } from "./bugs.ts";
import type { OpenStream } from "./watch-handler.ts";

export interface ReflectionHandlerOptions {
  readonly path: string;
  readonly reflector: Reflector;
  readonly admission: Admission;
  readonly reports: BugReports;
  /** The streams under way, for the one who closes the server. */
  readonly streams: Set<OpenStream>;
}

export function reflectionHandler(
  options: ReflectionHandlerOptions,
): (call: ServerDuplexStream<Buffer, Buffer>) => void {
  const { admission, streams } = options;
  return (call) => {
    const full = admission.enter("reflection");
    if (full !== undefined) {
      call.emit("error", refusalToStatus(full));
      return;
    }
    let isOver = false;
    const leave = (): boolean => {
      if (isOver) return false;
      isOver = true;
      streams.delete(stream);
      admission.leave("reflection");
      return true;
    };
    const stream: OpenStream = {
      end: (reason: Refusal) => {
        if (leave()) call.emit("error", refusalToStatus(reason));
      },
    };
    streams.add(stream);
    call.on("cancelled", leave);
    call.on("end", () => {
      if (leave()) call.end();
    });
    call.on("data", (request: Buffer) => {
      if (isOver) return;
      try {
        call.pause();
        call.write(options.reflector.answer(request), () => call.resume());
      } catch (error) {
        stream.end(bugToRefusal(error, options.path, options.reports));
      }
    });
  };
}
