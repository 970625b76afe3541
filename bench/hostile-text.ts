// How much longer each parser takes for 16 MiB that were made to stop it than for a log of the same size.
// By hand: node bench/hostile-text.ts
import { parsers, shapes } from '../tests/fakes/hostile-text.ts';

const characters = 16 * 1024 ** 2;

/** Of a parser in the place, and by the shape, that takes longest. */
export type HostileTextBench = { name: string; place: string; shape: string; ratio: number };

export function benchHostileText(): HostileTextBench[] {
  const harmless = repeated('sys/net/if.c: In function if_attach: 12 of 345 done\n');
  return parsers.map(({ name, places = { alone: (text: string) => text }, read }) => {
    const usual = Math.min(...[1, 2, 3].map(() => millisecondsOf(read, harmless)));
    const all = Object.entries(places).flatMap(([place, put]) =>
      Object.entries(shapes).map(([shape, make]) => {
        const ratio =
          millisecondsOf(read, put(make(characters))) / Math.max(usual, leastMilliseconds);
        return { name, place, shape, ratio };
      }),
    );
    return all.reduce((worst, one) => (one.ratio > worst.ratio ? one : worst));
  });
}

/** Of what is refused at once there is nothing to compare with. */
const leastMilliseconds = 100;

const repeated = (line: string): string => line.repeat(Math.ceil(characters / line.length));

function millisecondsOf(read: (text: string) => unknown, text: string): number {
  const start = performance.now();
  try {
    read(text);
  } catch {
    // To be refused is as good.
  }
  return performance.now() - start;
}

export const describeHostileText = (all: readonly HostileTextBench[]): string[] =>
  all.map(
    ({ name, place, shape, ratio }) =>
      `hostile text, 16 MiB: ${name} takes ${ratio.toFixed(1)} times as long as for a log, at worst for ${shape} (${place}; goal: at most 100)`,
  );

if (import.meta.main) for (const line of describeHostileText(benchHostileText())) console.log(line);
