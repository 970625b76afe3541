// Defines a profile: samples by the stacks of functions in which a machine spent its time.

/** A function as a profile names it; one object each in a profile, so that frames can be told apart by identity. */
export type Frame = {
  readonly name: string;
  /** The kernel, module, library or program that it is of, as the profile says: `/boot/kernel/if_cxgbe.ko`, `nf_tables`. */
  readonly module?: string;
};

export type Stack = {
  /** From the outermost caller to the function that was sampled; at least one. */
  readonly frames: readonly Frame[];
  readonly samples: number;
};

type ProfileFormat = 'pmcstat' | 'perf' | 'folded';

export type Profile = {
  readonly format: ProfileFormat;
  /** The event in the tool's own words: `CPU_CLK_UNHALTED_CORE`, `cpu-clock`; absent where the file has none. */
  readonly event?: string;
  /** The kernel as the file recorded it; absent where it has none. */
  readonly kernel?: string;
  /** In the order of the file; the same frames may come more than once. */
  readonly stacks: readonly Stack[];
};

export const samplesOf = (stacks: readonly Stack[]): number =>
  stacks.reduce((sum, { samples }) => sum + samples, 0);
