// Types of the data for the pages' scripts. Imports nothing, as they run in browsers.

export type Metric = 'pps' | 'nsPerPacket' | 'instructionsPerPacket';

/** Data of a series page. Times are seconds since 1970; places count from the oldest nightly run. */
export type SeriesData = {
  name: string;
  testbed: string;
  metric: Metric;
  times: number[];
  at: number[];
  commits: string[];
  occasions: ('nightly' | 'push' | 'again')[];
  /** Medians, minimums and maximums of the trials; costs are present only if a nightly run has them. */
  pps: Numbers;
  nsPerPacket?: Numbers;
  instructionsPerPacket?: Numbers;
  levels: { from: number; to: number; typical: number; sigmaRatio: number }[];
  changes: {
    place: number;
    ratio: number;
    state: string;
    isOpen: boolean;
  }[];
  releases: ChartEvent[];
  fingerprints: ChartEvent[];
  /** URL of the commits between two, with forty times `F` for the first id and `T` for the second. */
  compare?: string;
};

export type Numbers = {
  typical: (number | null)[];
  least: (number | null)[];
  most: (number | null)[];
};

export type ChartEvent = { time: number; text: string };

export type SmallData = {
  metric: Metric;
  times: number[];
  values: number[];
  commits: string[];
  levels: { from: number; to: number; typical: number }[];
  changes: { place: number; ratio: number; isOpen: boolean }[];
};
