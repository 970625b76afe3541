// FreeBSD's output for a command, without everything that differs between machines.

export type Answer = { command: string; code: number; stdout: string; stderr: string };

/** A line of output, or an exit code, without an equal. */
export type Unlike = { command: string; shape: string };

/** Shapes of outputs, by the shape of their command. */
export type Shapes = ReadonlyMap<string, ReadonlySet<string>>;

export function shapesOf(answers: readonly Answer[]): Shapes {
  const shapes = new Map<string, Set<string>>();
  for (const answer of answers) {
    const command = commandShape(answer.command);
    const own = shapes.get(command) ?? new Set();
    shapes.set(command, own);
    for (const shape of partsOf(answer)) own.add(shape);
  }
  return shapes;
}

/** Each part of the real outputs that the fake ones never have. */
export function unlikeParts(real: Shapes, fake: Shapes): Unlike[] {
  return [...real].flatMap(([command, shapes]) =>
    [...shapes].filter((shape) => fake.get(command)?.has(shape) !== true).map((shape) => ({ command, shape })),
  );
}

const partsOf = ({ code, stdout, stderr }: Answer): string[] => [
  `code ${code}`,
  ...linesOf(stdout).map((line) => `stdout ${line}`),
  ...linesOf(stderr).map((line) => `stderr ${line}`),
];

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(shapeOf);

/** Removes the shell's quotes, which differ. */
export const commandShape = (command: string): string => shapeOf(command.replaceAll("'", ''));

/** Treats numbers, addresses, checksums, devices, and names of machines and interfaces as equal. */
const shapeOf = (line: string): string =>
  line
    .trimEnd()
    .replace(/\boptions=[0-9a-f]+<[^>]*>(?=$)/, (options) => (options.includes('PERFORMNUD') ? options : 'options=…'))
    .replace(/\b[0-9a-f]{64}\b/g, 'SUM')
    .replace(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, 'UUID')
    .replace(/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, 'MAC')
    .replace(/\bv?(?:cxl|vtnet|igb)\d+\b/g, 'IF')
    .replace(/(?:\b[0-9a-f]{1,4}:|::)[0-9a-f:.]*(?:%\w+)?(?:\/\d+)?/gi, 'ADDRESS')
    .replace(/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d+/, 'DAY')
    .replace(/^-(?=\d+$)/, '')
    .replace(/\b\d+\.\d+\.\d+\.\d+(?:\/\d+)?/g, 'ADDRESS')
    .replace(/\/dev\/(?:gpt\/)?\w+fs\b|\/dev\/ada\w+/g, 'DEVICE')
    .replace(/0x[0-9a-f]+|\b[0-9a-f]{7,}\b|\d+(?:\.\d+)*/g, 'N')
    .replace(/ {2,}/g, ' ');
