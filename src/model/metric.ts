// Defines the metrics of a run, without a schema: all that formats numbers needs them.
export const metrics = ['pps', 'nsPerPacket', 'instructionsPerPacket'] as const;

export type Metric = (typeof metrics)[number];
export type Cost = Exclude<Metric, 'pps'>;

export const isCost = (metric: Metric): metric is Cost => metric !== 'pps';
