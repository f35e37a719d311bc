import fc from "fast-check";
import { expect, test } from "vitest";
import { PEER_SERVICE } from "../../src/net/peer-channel.ts";
import type { ForwardAnswer, ForwardFailure } from "../../src/replica/ports.ts";
import type { ForwardReply } from "../../src/wire/generated/cadastre/peer/v1/ForwardReply.ts";
import type { ForwardRequest } from "../../src/wire/generated/cadastre/peer/v1/ForwardRequest.ts";
import type { Hello as ProtoHello } from "../../src/wire/generated/cadastre/peer/v1/Hello.ts";
import {
  forwardAnswerToProto,
  type ForwardedCall,
  forwardToProto,
  type Hello,
  helloToProto,
  protoToForward,
  protoToForwardAnswer,
  protoToHello,
} from "../../src/wire/peer-forward.ts";

const { Exchange, Forward } = PEER_SERVICE;

const ids = { protocolVersion: 1, clusterId: "a", from: 1, to: 2 };
const SEEN = { group: 1, term: 7, index: 0, voted: true, bootNonce: "dead" };
const HELLO = {
  ...ids,
  bootNonce: "beef",
  attempt: 3,
  storeUuid: "s",
  acknowledged: [SEEN, { ...SEEN, group: 0, index: 2 ** 44, voted: false }],
} as unknown as Hello;
const CALL = {
  ids,
  call: { group: 0, command: new Uint8Array([1, 2]), timeoutMs: 500, mayRelay: false },
} as ForwardedCall;

function receivedHello(hello: ProtoHello): ReturnType<typeof protoToHello> {
  const frame = Exchange.requestDeserialize(Exchange.requestSerialize({ hello }));
  if (!frame.hello) throw new Error("the frame lost its Hello");
  return protoToHello(frame.hello);
}

function receivedCall(request: ForwardRequest): ReturnType<typeof protoToForward> {
  return protoToForward(Forward.requestDeserialize(Forward.requestSerialize(request)));
}

function receivedAnswer(reply: ForwardReply): ReturnType<typeof protoToForwardAnswer> {
  return protoToForwardAnswer(Forward.responseDeserialize(Forward.responseSerialize(reply)));
}

test("a Hello arrives as it was sent", () => {
  expect(receivedHello(helloToProto(HELLO))).toEqual({ ok: true, value: HELLO });
});

test.each<[ProtoHello, string]>([
  [{ fromServer: 0 }, "fromServer"],
  [{ toServer: "9007199254740993" }, "toServer"],
  [{ attempt: 0 }, "attempt"],
  [{ storeUuid: "" }, "storeUuid"],
  [{ acknowledged: [{ ...SEEN, index: "-1" }] }, "acknowledged.index"],
  [{ acknowledged: [SEEN, { ...SEEN, term: 2 ** 53 }] }, "acknowledged.term"],
  [{ acknowledged: Array.from({ length: 10_001 }, () => SEEN) }, "acknowledged"],
])("a Hello with %.80j is refused and names the field %s", (change, field) => {
  const hello = receivedHello({ ...helloToProto(HELLO), ...change });
  expect(hello).toMatchObject({ ok: false, error: { field } });
});

test.each([false, true])("a forwarded command arrives as it was sent, relayed: %s", (mayRelay) => {
  const sent = { ...CALL, call: { ...CALL.call, mayRelay } };
  expect(receivedCall(forwardToProto(sent))).toEqual({ ok: true, value: sent });
});

test("a fraction of a millisecond that is left counts as a whole one", () => {
  const call = { ...CALL, call: { ...CALL.call, timeoutMs: 0.2 } };
  expect(receivedCall(forwardToProto(call))).toMatchObject({ value: { call: { timeoutMs: 1 } } });
});

test.each<[ForwardRequest, string]>([
  [{ group: "9007199254740993" }, "group"],
  [{ timeoutMs: 0 }, "timeoutMs"],
  [{ timeoutMs: 2 ** 31 }, "timeoutMs"],
  [{ fromServer: 0 }, "fromServer"],
])("a forwarded command with %j is refused and names the field %s", (change, field) => {
  const call = receivedCall({ ...forwardToProto(CALL), ...change });
  expect(call).toMatchObject({ ok: false, error: { field } });
});

test("a command that is too long is refused", () => {
  const command = new Uint8Array(640 * 1024 + 1);
  const call = receivedCall({ ...forwardToProto(CALL), command });
  expect(call).toMatchObject({ ok: false, error: { field: "command" } });
});

const REASONS: Record<ForwardFailure, true> = {
  notLeader: true,
  overloaded: true,
  leaderChanged: true,
  deadlineExceeded: true,
  unreachable: true,
  shuttingDown: true,
};

test("every answer arrives as it was given", () => {
  const failures = fc.record({
    kind: fc.constant("failed" as const),
    outcome: fc.constantFrom("notApplied" as const, "unknown" as const),
    reason: fc.constantFrom(...(Object.keys(REASONS) as ForwardFailure[])),
  });
  const applied = fc.record({
    kind: fc.constant("applied" as const),
    index: fc.maxSafeNat().map((value) => Math.max(1, value)),
    result: fc.uint8Array({ maxLength: 50 }),
  }) as unknown as fc.Arbitrary<ForwardAnswer>;
  fc.assert(
    fc.property(fc.oneof(failures, applied), (answer) => {
      expect(receivedAnswer(forwardAnswerToProto(answer))).toEqual({ ok: true, value: answer });
    }),
  );
});

test.each<[ForwardReply, string]>([
  [{}, "answer"],
  [{ failed: { reason: "REASON_NOT_LEADER" } }, "failed.outcome"],
  [{ failed: { outcome: "OUTCOME_UNKNOWN" } }, "failed.reason"],
  [{ applied: { index: 0 } }, "applied.index"],
])("the answer %j is refused and names the field %s", (reply, field) => {
  expect(receivedAnswer(reply)).toMatchObject({ ok: false, error: { field } });
});
