// Where a machine spent its time: samples by the stacks of functions that they fell into.

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
  /** What was counted, in the tool's own words: `CPU_CLK_UNHALTED_CORE`, `cpu-clock`; absent where the file does not tell. */
  readonly event?: string;
  /** What ran, as the file itself recorded it; absent where it does not tell. */
  readonly kernel?: string;
  /** In the order of the file; the same frames may come more than once. */
  readonly stacks: readonly Stack[];
};

export const samplesOf = (stacks: readonly Stack[]): number =>
  stacks.reduce((sum, { samples }) => sum + samples, 0);
