// Defines a profile: samples by stack.

/** A function of a profile; frames can be compared by identity. */
export type Frame = {
  readonly name: string;
  /** The kernel, module, library or program, as recorded: `/boot/kernel/if_cxgbe.ko`, `nf_tables`. */
  readonly module?: string;
};

export type Stack = {
  /** From the outermost caller to the sampled function; at least one. */
  readonly frames: readonly Frame[];
  readonly samples: number;
};

type ProfileFormat = 'pmcstat' | 'perf' | 'folded';

export type Profile = {
  readonly format: ProfileFormat;
  /** Named as the tool prints it: `CPU_CLK_UNHALTED_CORE`, `cpu-clock`; absent if the file has none. */
  readonly event?: string;
  readonly kernel?: string;
  /** In file order; equal stacks may repeat. */
  readonly stacks: readonly Stack[];
};

export const samplesOf = (stacks: readonly Stack[]): number =>
  stacks.reduce((sum, { samples }) => sum + samples, 0);

/** Remembers what `make` returns for a frame: large profiles repeat a few thousand functions. */
export function perFrame<Made>(make: (frame: Frame) => Made): (frame: Frame) => Made {
  const known = new Map<Frame, Made>();
  return (frame) => {
    const found = known.get(frame);
    if (found !== undefined) return found;
    const made = make(frame);
    known.set(frame, made);
    return made;
  };
}
