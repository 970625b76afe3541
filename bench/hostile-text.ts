// Times each parser on 16 MiB that were made to stop it, against a log of the same size.
// By hand: node bench/hostile-text.ts
import { parsers, shapes } from '../tests/fakes/hostile-text.ts';

const characters = 16 * 1024 ** 2;
/** Size of a first try of each shape in each place, to find the slowest. */
const fewCharacters = 1024 ** 2;

/** The slowest place and shape of a parser. */
export type HostileTextBench = { name: string; place: string; shape: string; ratio: number };

export function benchHostileText(): HostileTextBench[] {
  return parsers.map(({ name, places = { alone: (text: string) => text }, read, usual = log }) => {
    const tried = Object.entries(places).flatMap(([place, put]) =>
      Object.entries(shapes).map(([shape, make]) => {
        const text = (size: number) => put(make(size));
        return { place, shape, text, milliseconds: millisecondsOf(read, text(fewCharacters)) };
      }),
    );
    const { place, shape, text } = tried.reduce((worst, one) => (one.milliseconds > worst.milliseconds ? one : worst));
    const harmless = usual.repeat(characters / usual.length);
    const times = [1, 2, 3].map(() => millisecondsOf(read, harmless));
    const usually = Math.max(minMilliseconds, Math.min(...times));
    const ratio = millisecondsOf(read, text(characters)) / usually;
    return { name, place, shape, ratio };
  });
}

const log = 'sys/net/if.c: In function if_attach: 12 of 345 done\n';

/** Least time to compare with: a text refused at once needs none. */
const minMilliseconds = 100;

function millisecondsOf(read: (text: string) => unknown, text: string): number {
  const start = performance.now();
  try {
    read(text);
  } catch {
    // A refusal is as good.
  }
  return performance.now() - start;
}

export const describeHostileText = (all: readonly HostileTextBench[]): string[] =>
  all.map(
    ({ name, place, shape, ratio }) =>
      `hostile text, 16 MiB: ${name} takes ${ratio.toFixed(1)} times as long as for a log, at worst for ${shape} (${place}; goal: at most 100)`,
  );

if (import.meta.main) for (const line of describeHostileText(benchHostileText())) console.log(line);
