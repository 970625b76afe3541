// Runs `ppsgate phabricator`.

import { loadConfig } from '../../config/load.ts';
import { type Config, systemOf } from '../../config/schema.ts';
import { phabricatorOf } from '../../forge/phabricator/login.ts';
import type { ProgressOutput } from '../../gate/progress.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { checkPhabricator } from '../../relay/setup-check.ts';
import type { SetUpDiagnostic } from '../../relay/setup-check-item.ts';
import { configPath } from '../find-config.ts';
import type { Call } from '../run.ts';
import { hasColours, oneLine, print, printJson } from '../table.ts';

type CheckOptions = { config?: string; json?: true };

/** Prints each diagnostic at once, or with `json` all at the end. */
export async function run({ config: path, json }: CheckOptions, { signal }: Call): Promise<number> {
  const config = await loadConfig(configPath(path));
  const phabricator = phabricatorOf(config);
  const notify = (sentence: string) => void (json ? process.stderr : process.stdout).write(`… ${oneLine(sentence)}\n`);
  const patience = notifyIfSlow(notify);
  const deps = {
    signal,
    now: () => new Date(),
    log: { info: notify },
    onLook: patience.begin,
    ...(hasLinux(config) && { overlay: config.overlay }),
  };
  const diagnostics: SetUpDiagnostic[] = [];
  try {
    for await (const diagnostic of checkPhabricator(phabricator, deps)) {
      patience.end();
      diagnostics.push(diagnostic);
      if (!json) print(diagnosticText(diagnostic, process.stdout));
    }
  } finally {
    patience.end();
  }
  if (json) printJson({ phabricator: phabricator.url, diagnostics });
  else print(summary(diagnostics));
  return exitCodeOf(diagnostics);
}

const hasLinux = (config: Config): boolean =>
  Object.keys(config.testbeds).some((name) => systemOf(config, name) === 'linux');

const patienceSeconds = 2;

function notifyIfSlow(notify: (sentence: string) => void) {
  let timer: NodeJS.Timeout | undefined;
  const end = () => clearTimeout(timer);
  return {
    begin(what: string) {
      end();
      timer = setTimeout(() => notify(`checking ${what}`), patienceSeconds * 1000);
    },
    end,
  };
}

const signs = { ok: '✔', warning: '!', wrong: '✘', unreachable: '✘', skipped: '–' } as const;
/** ECMA-48 select graphic rendition: green, yellow, red, red, faint. */
const colours = { ok: 32, warning: 33, wrong: 31, unreachable: 31, skipped: 2 } as const;
const longestWord = 'unreachable'.length;

/** `✘ WHAT: WHY`, or without a terminal `wrong WHAT: WHY`; the fix is on its own line. */
export function diagnosticText(diagnostic: SetUpDiagnostic, output: ProgressOutput): string {
  const { kind, what, why } = diagnostic;
  const plain = output.isTTY ? signs[kind] : kind.padEnd(longestWord);
  const sign = hasColours(output) ? `\x1b[${colours[kind]}m${plain}\x1b[0m` : plain;
  const line = `${sign} ${oneLine(`${what}: ${why}`)}`;
  return 'fix' in diagnostic ? `${line}\n    fix: ${oneLine(diagnostic.fix)}` : line;
}

export function summary(diagnostics: readonly SetUpDiagnostic[]): string {
  const faults = diagnostics.filter(isFault).length;
  const warnings = diagnostics.filter(({ kind }) => kind === 'warning').length;
  const wrong = { 0: 'No check failed', 1: 'One check failed' }[faults] ?? `${faults} checks failed`;
  if (warnings === 0) return faults === 0 ? 'All checks passed.' : `${wrong}.`;
  return `${wrong}; ${warnings === 1 ? 'one warning' : `${warnings} warnings`}.`;
}

const isFault = ({ kind }: SetUpDiagnostic): boolean => kind === 'wrong' || kind === 'unreachable';

/** Faults in ppsgate.yml or on the server persist, and outweigh a temporary failure. */
export function exitCodeOf(diagnostics: readonly SetUpDiagnostic[]): number {
  const kinds = new Set(diagnostics.map(({ kind }) => kind));
  if (kinds.has('wrong')) return exitCodes.usage;
  return kinds.has('unreachable') ? exitCodes.infrastructure : exitCodes.pass;
}
