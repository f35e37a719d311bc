/**
 * One unary call: a slot, the request out of its bytes, the service, and the answer or the refusal
 * back. grpc-js sees bytes only, so that every conversion error is a refusal of ours.
 */

import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Refusal } from "../../wire/api.ts";
import type { CallContext, Unary } from "../../wire/api-services.ts";
import { ANSWER_BYTES_MAX } from "../../wire/limits.ts";
import type { MethodRow } from "../../wire/methods.ts";
import { refusal } from "../../wire/refusal.ts";
import { refusalToStatus } from "../../wire/status-details.ts";
import type { Admission, AdmissionClass } from "./admission.ts";
import { type BugReports, bugToRefusal } from "./bugs.ts";
import { openScope } from "./call-context.ts";

export interface UnaryHandlerOptions {
  readonly row: MethodRow<unknown, unknown>;
  readonly service: Unary<unknown, unknown>;
  readonly admission: Admission;
  readonly admissionClass: AdmissionClass;
  readonly reports: BugReports;
}

export function unaryHandler(
  options: UnaryHandlerOptions,
): (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => void {
  const { admission, admissionClass } = options;
  return (call, reply) => {
    const full = admission.enter(admissionClass);
    if (full !== undefined) {
      reply(refusalToStatus(full));
      return;
    }
    const scope = openScope(call);
    void answerTo(call.request, scope.context, options).then((answer) => {
      admission.leave(admissionClass);
      scope.settle();
      if (answer.ok) reply(null, answer.value);
      else reply(refusalToStatus(answer.error));
    });
  };
}

/** Never rejects. */
async function answerTo(
  bytes: Buffer,
  context: CallContext,
  { row, service, reports }: UnaryHandlerOptions,
): Promise<Result<Buffer, Refusal>> {
  const request = row.decodeRequest(bytes);
  if (!request.ok) return request;
  try {
    const answer = await service(request.value, context);
    if (!answer.ok) return answer;
    const encoded = row.encodeAnswer(answer.value);
    return encoded.length <= ANSWER_BYTES_MAX ? ok(encoded) : failed(tooLarge(encoded, row.path));
  } catch (error) {
    return failed(bugToRefusal(error, row.path, reports));
  }

  function tooLarge(encoded: Buffer, path: string): Refusal {
    reports.logger.error("answerTooLarge", { path, bytes: encoded.length });
    return refusal("INTERNAL", `the answer has ${encoded.length} bytes; ask for smaller pages`);
  }
}
