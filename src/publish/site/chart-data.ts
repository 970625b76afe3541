// What the scripts of the pages are given to draw; it imports nothing, as they run where there is no Node.

export type Metric = 'pps' | 'nsPerPacket' | 'instructionsPerPacket';

/** All that the page of a series draws; times in seconds since 1970, places count from the oldest nightly run. */
export type SeriesData = {
  name: string;
  testbed: string;
  metric: Metric;
  times: number[];
  /** When sessions began. */
  at: number[];
  commits: string[];
  occasions: ('nightly' | 'push' | 'again')[];
  /** Medians, least and most of the trials; but for the first one where any nightly run has it. */
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
  /** Address of the commits between two, with forty times `F` for the first id and `T` for the second. */
  compare?: string;
};

export type Numbers = {
  typical: (number | null)[];
  least: (number | null)[];
  most: (number | null)[];
};

export type ChartEvent = { time: number; text: string };

/** What a testbed's page draws of each of its cells. */
export type SmallData = {
  metric: Metric;
  times: number[];
  values: number[];
  commits: string[];
  levels: { from: number; to: number; typical: number }[];
  changes: { place: number; ratio: number; isOpen: boolean }[];
};
