// Defines the interface of all power controllers, and their error.

export type PowerController = {
  /** Begins a sentence: `The BMC of dut-3 (IPMI at 192.0.2.5:623)`. */
  readonly label: string;
  /** Completes "check …", for a controller that does not obey. */
  readonly check: string;
  state(): Promise<PowerReading>;
  turn(to: 'on' | 'off'): Promise<PowerReply>;
  /** Requires a machine that is on. Absent if the controller has no such order. */
  cycle?(): Promise<PowerReply>;
};

export type PowerReading = 'on' | 'off' | 'changing';

/** An accepted order is carried out later. `why` is the controller's message, on one line. */
export type PowerReply = { kind: 'accepted' } | { kind: 'done' } | { kind: 'refused'; why: string };

export class PowerError extends Error {
  override readonly name = 'PowerError';
}
