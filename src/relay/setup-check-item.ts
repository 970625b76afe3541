// What is looked at of a set-up for Phabricator, and what is found.

import type { OverlayPlace } from '../config/schema.ts';
import type { ConduitOptions } from '../forge/phabricator/conduit.ts';
import type { CheckStep, Diagnostic as Plain } from '../lab/check/diagnostic.ts';

export type SetUpDiagnostic =
  | Plain
  /** A `warning` keeps ppsgate from nothing; what is `unreachable` may be well later by itself. */
  | { kind: 'warning' | 'unreachable'; what: string; why: string; fix: string };

export type Point = CheckStep<SetUpDiagnostic>;

export type SetUpDeps = Pick<ConduitOptions, 'log' | 'pause'> & {
  signal: AbortSignal;
  now(): Date;
  /** Hears what is looked at next. */
  onLook(what: string): void;
  /** What the site's Linux testbeds lay; absent where it has none. */
  overlay?: OverlayPlace;
};

export const warning = (what: string, why: string, fix: string): SetUpDiagnostic => ({
  ...{ kind: 'warning', what, why, fix },
});

export const unreachable = (what: string, why: string, fix: string): SetUpDiagnostic => ({
  ...{ kind: 'unreachable', what, why, fix },
});
