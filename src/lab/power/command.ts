// Controls power by a site's own commands, for example for a switched PDU.

import type { CommandConfig } from '../../config/power.ts';
import { lastLine, shortened } from '../../model/one-line.ts';
import { type PowerController, PowerError, type PowerReading, type PowerReply } from './power-controller.ts';
import type { PowerDeps, ProgramOutcome } from './power-deps.ts';

export function openCommand(name: string, config: CommandConfig, deps: PowerDeps): PowerController {
  const label = `The power of ${name} (by commands)`;
  const run = ([program = '', ...args]: readonly string[]) => deps.run(program, args, { timeoutSeconds: 120 });
  const { cycle } = config;
  return {
    label,
    check: 'what its commands do',
    state: async () => readingOf(await run(config.state), config.state, label),
    turn: async (to) => replyOf(await run(config[to]), config[to]),
    // The power is on again when the command ends.
    ...(cycle !== undefined && { cycle: async () => replyOf(await run(cycle), cycle) }),
  };
}

function readingOf(ran: ProgramOutcome, argv: readonly string[], label: string): PowerReading {
  const word = ran.kind === 'exited' && ran.code === 0 ? ran.stdout.trim().toLowerCase() : '';
  if (word === 'on' || word === 'off') return word;
  throw new PowerError(
    `${label} is unknown: ${ended(ran, argv)}; its \`state\` must print "on" or "off" and exit with 0.`,
  );
}

function replyOf(ran: ProgramOutcome, argv: readonly string[]): PowerReply {
  if (ran.kind === 'exited' && ran.code === 0) return { kind: 'done' };
  return { kind: 'refused', why: ended(ran, argv) };
}

/** Names only the program: an argument may be a password. */
function ended(ran: ProgramOutcome, [program = '']: readonly string[]): string {
  if (ran.kind === 'failed') return `${shortened(program)} ${ran.why}`;
  const line = lastLine(ran.stderr) ?? lastLine(ran.stdout);
  const message = line === undefined ? 'and printed nothing' : `and printed "${shortened(line)}"`;
  return `${shortened(program)} exited with ${ran.code} ${message}`;
}
