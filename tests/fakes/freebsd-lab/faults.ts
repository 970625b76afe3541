// Faults of the fake lab, requested in advance or at any time by a test.

export type Fault =
  /** A boot of the DUT fails; counted from 1 since the start of the fake lab. */
  | { kind: 'panic-at-boot' | 'hang-at-boot' | 'wrong-kernel'; at: number }
  /** A trial fails; counted from 1 by the starts of its senders. */
  | { kind: 'panic-under-load' | 'receiver-crash' | 'dead-link' | 'forwards-nothing'; at: number }
  /** The sender reaches only this many packets per second in that trial. */
  | { kind: 'slow-generator'; at: number; pps: number }
  /** The receiver counts only this many packets per second in that trial, and loses the others. */
  | { kind: 'slow-receiver'; at: number; pps: number }
  /** The connection breaks when that upload, counted from 1 over all machines, has received this many bytes. */
  | { kind: 'upload-lost'; at: number; afterBytes: number }
  /** Fault of the nth call of `power`, from 1: it reports success without effect, or never returns. */
  | { kind: 'power-lies' | 'power-times-out'; at: number }
  | CommandFault;

/** Fault at the nth command (from 1) with these words, before it runs or this many seconds later. */
export type CommandFault = {
  at: number;
  machine: string;
  command: string;
  afterSeconds?: number;
} & (
  | { kind: 'panic-at-command' }
  /** It exits with 1 and prints this, without effect. */
  | { kind: 'command-fails'; says: string }
  /** It exits with 0 and prints this, without effect. */
  | { kind: 'command-lies'; says: string }
  /** Its management network is down for this many seconds; absent: until it boots. */
  | { kind: 'cut-off'; seconds?: number }
);

export type FaultKind = Fault['kind'];

export type FaultOf<Kind extends FaultKind> = Fault & { kind: Kind };

export type Faults = {
  order(fault: Fault): void;
  /** The fault of that kind for the boot, trial… with this number; returned once. */
  take<Kind extends FaultKind>(kind: Kind, at: number): FaultOf<Kind> | undefined;
  /** Faults that a command triggers. */
  takeAt(machine: string, command: string): CommandFault[];
};

export function faultsOf(ordered: readonly Fault[]): Faults {
  const faults = [...ordered];
  const seen = new Map<Fault, number>();
  const isMet = (fault: CommandFault, machine: string, command: string): boolean => {
    if (fault.machine !== machine || !command.includes(fault.command)) return false;
    const times = (seen.get(fault) ?? 0) + 1;
    seen.set(fault, times);
    return times === fault.at;
  };
  return {
    order: (fault) => void faults.push(fault),
    takeAt: (machine, command) =>
      faults.filter((fault): fault is CommandFault => 'command' in fault && isMet(fault, machine, command)),
    take<Kind extends FaultKind>(kind: Kind, at: number) {
      const isIt = (fault: Fault): fault is FaultOf<Kind> => fault.kind === kind && fault.at === at;
      const fault = faults.find(isIt);
      if (fault !== undefined) faults.splice(faults.indexOf(fault), 1);
      return fault;
    },
  };
}
