// Defines steps and diagnostics of the set-up check for Phabricator.

import type { OverlayPlace } from '../config/overlay.ts';
import type { ConduitOptions } from '../forge/phabricator/conduit.ts';
import type { CheckStep, Diagnostic as Plain } from '../lab/check/diagnostic.ts';

export type SetUpDiagnostic =
  | Plain
  /** A `warning` does not stop ppsgate. An `unreachable` item may recover without a fix. */
  | { kind: 'warning' | 'unreachable'; what: string; why: string; fix: string };

export type SetUpStep = CheckStep<SetUpDiagnostic>;

export type SetUpCheckDeps = Pick<ConduitOptions, 'log' | 'pause'> & {
  signal: AbortSignal;
  now(): Date;
  onLook(what: string): void;
  overlay?: OverlayPlace;
};

export const warning = (what: string, why: string, fix: string): SetUpDiagnostic => ({
  kind: 'warning',
  what,
  why,
  fix,
});

export const unreachable = (what: string, why: string, fix: string): SetUpDiagnostic => ({
  kind: 'unreachable',
  what,
  why,
  fix,
});
