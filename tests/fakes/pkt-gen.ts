// Logs in pkt-gen's format with a test's numbers.

export type MadeLog = {
  /** Rates, one per second. */
  pps: readonly number[];
  side?: 'receiver' | 'sender';
  /** First line; default: bench-lab's for that side. */
  command?: string;
};

/** Nine header lines, one line per rate, and one final line: 10 more lines than rates. */
export function madeLog({ pps, side = 'receiver', command }: MadeLog): string {
  const sends = side === 'sender' ? 'tx -i vcxl0 -l 60 -4' : 'rx -i vcxl1';
  const head = Array.from({ length: 8 }, (_, line) =>
    said(line / 1000, line < 7 ? `main [${line}] getting ready` : 'start_threads [2697] Ready...'),
  );
  const rates = pps.map((rate, index) => said(index + 1, rateWords(Math.round(rate))));
  const lines = [command ?? `CMD: pkt-gen -N -f ${sends}`, ...head, ...rates, 'Terminated'];
  return lines.map((line) => `${line}\n`).join('');
}

const rateWords = (pps: number): string =>
  `main_thread [2277] ${pps} pps (${pps} pkts ${pps * 480} bps in 1000000 usec) 4.00 avg_batch 9 min_space`;

const said = (seconds: number, words: string): string =>
  `${((900 + seconds) % 1000).toFixed(6).padStart(10, '0')} ${words}`;

/** A ramp of one second, `seconds` that scatter slightly around `pps`, and a tail of half a second. */
export function trial(pps: number, seconds: number): number[] {
  const body = Array.from({ length: seconds }, (_, second) => pps * (1 + ((second % 5) - 2) / 2000));
  return [pps / 3, ...body, pps / 2];
}
