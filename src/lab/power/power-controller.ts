// What every power controller can do, and the error of all of them.

export type PowerController = {
  /** With its article and place, to begin a sentence: `The BMC of dut-3 (IPMI at 192.0.2.5:623)`. */
  readonly label: string;
  /** What people are to look at where the controller does not do as told; completes "check …". */
  readonly check: string;
  state(): Promise<PowerReading>;
  turn(to: 'on' | 'off'): Promise<PowerReply>;
  /** Of a machine that is on. Absent: the controller has no such thing. */
  cycle?(): Promise<PowerReply>;
};

export type PowerReading = 'on' | 'off' | 'changing';

/** Whether it will be done, or has been when `done`; `why` is the controller's own word, on one line. */
export type PowerReply = { kind: 'taken' } | { kind: 'done' } | { kind: 'refused'; why: string };

/** A controller that cannot be asked, or does not do as told: which, what it said and what to check, in one sentence. */
export class PowerError extends Error {
  override readonly name = 'PowerError';
}
