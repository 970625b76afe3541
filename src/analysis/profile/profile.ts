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

export const samplesOf = (stacks: readonly Stack[]): number => stacks.reduce((sum, { samples }) => sum + samples, 0);

/** Remembers what `make` returned: large profiles repeat a few thousand functions, and as many counts. */
export function remembered<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new Map<Key, Made>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    known.set(key, made);
    return made;
  };
}
