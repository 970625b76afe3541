// Faults of the simulated lab: ordered beforehand, or at any time by a test.

export type Fault =
  /** A boot of the DUT goes wrong, counted from 1 since the laboratory was started. */
  | { kind: 'panic-at-boot' | 'hang-at-boot' | 'wrong-kernel'; at: number }
  /** A trial goes wrong, counted from 1 by the starts of its senders. */
  | { kind: 'panic-under-load' | 'receiver-crash' | 'dead-link' | 'forwards-nothing'; at: number }
  /** The sender reaches only so many packets a second in that trial. */
  | { kind: 'slow-generator'; at: number; pps: number }
  /** The host of that virtual machine gives so much of its CPUs' time to others in that trial. */
  | { kind: 'starved-dut' | 'starved-sender' | 'starved-receiver'; at: number; stolenRatio: number }
  /** The receiver counts only so many packets a second in that trial, and loses the others. */
  | { kind: 'slow-receiver'; at: number; pps: number }
  /** The connection breaks when that upload, counted from 1 over all machines, has got so many bytes. */
  | { kind: 'upload-lost'; at: number; afterBytes: number }
  /** Fault of the nth call of `power`, from 1: it reports success without effect, or never ends. */
  | { kind: 'power-lies' | 'power-times-out'; at: number }
  | CommandFault;

/** Fault at the nth command (from 1) with these words, before it is run or so many seconds after. */
export type CommandFault = {
  at: number;
  machine: string;
  command: string;
  afterSeconds?: number;
} & (
  | { kind: 'panic-at-command' }
  /** It exits with 1 and these words, and does nothing. */
  | { kind: 'command-fails'; says: string }
  /** It exits with 0 and these words, and does nothing. */
  | { kind: 'command-lies'; says: string }
  /** Its management network is gone: for so many seconds, or until it boots when absent. */
  | { kind: 'cut-off'; seconds?: number }
);

export type FaultKind = Fault['kind'];

export type FaultOf<Kind extends FaultKind> = Fault & { kind: Kind };

export type Faults = {
  order(fault: Fault): void;
  /** The fault of that kind that the boot, trial… with this number has to meet: once. */
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
      faults.filter(
        (fault): fault is CommandFault => 'command' in fault && isMet(fault, machine, command),
      ),
    take<Kind extends FaultKind>(kind: Kind, at: number) {
      const isIt = (fault: Fault): fault is FaultOf<Kind> => fault.kind === kind && fault.at === at;
      const fault = faults.find(isIt);
      if (fault !== undefined) faults.splice(faults.indexOf(fault), 1);
      return fault;
    },
  };
}
