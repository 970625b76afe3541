// Responses that are not refusals, as recorded on a live Phorge on 2026-11-25, or as sent by proxies.
import type { Fault } from './faults.ts';

const text = 'text/html; charset=UTF-8';
const unhandled = (why: string): string => `<!DOCTYPE html><title>Unhandled Exception</title><p>${why}</p>`;

const core = (info: string): string =>
  JSON.stringify({ result: null, error_code: 'ERR-CONDUIT-CORE', error_info: info });

const answer = (status: number, contentType: string, body: string, location?: string): Fault => ({
  kind: 'answer',
  status,
  contentType,
  body,
  ...(location !== undefined && { location }),
});

const lockWait = core('#1205: Lock wait timeout exceeded; try restarting transaction');

/** Faults of the database, in the forms that ppsgate's calls receive. */
export const databaseFaults = {
  'mysql-read-only-option': answer(
    500,
    text,
    unhandled(
      'AphrontQueryException: #1290: The MariaDB server is running with the --read-only option so it cannot execute this statement',
    ),
  ),
  'too-many-connections': answer(
    500,
    text,
    unhandled(
      'PhabricatorClusterStrandedException: Unable to establish a connection to any database host (while trying &quot;phabricator_cache&quot;). All masters and replicas are completely unreachable.',
    ),
  ),
  'lock-wait': answer(500, 'application/json', lockWait),
  'metadata-lock-read': answer(200, 'application/json', lockWait),
  'table-missing-during-upgrade': answer(
    200,
    'application/json',
    core("#1146: Table 'phabricator_differential.differential_diff' doesn't exist"),
  ),
  'account-locked': answer(
    500,
    text,
    'This install has a fatal setup error, access the web interface to view details and resolve it.',
  ),
  // The response that arc receives, which adds __conduit__=1.
  'stranded-as-json': answer(
    200,
    'application/json',
    JSON.stringify({
      result: null,
      error_code: 'PhabricatorClusterStrandedException',
      error_info: 'Unable to establish a connection to any database host.',
    }),
  ),
} as const satisfies Record<string, Fault>;

/** Responses of proxies in front of the server. */
export const proxyFaults = {
  'a page': answer(200, text, '<!DOCTYPE html><title>Down for maintenance</title>'),
  'JSON of another service': answer(200, 'application/json', '{"status":"maintenance"}'),
  'a list in JSON': answer(200, 'application/json', '[]'),
  '403': answer(403, text, 'Forbidden'),
  '404': answer(404, text, 'Not Found'),
  'a redirect': answer(302, text, '', 'https://sorry.example.org/'),
  'a bad gateway': answer(502, text, 'Bad Gateway'),
  'an unavailable service': answer(503, text, 'Service Unavailable'),
} as const satisfies Record<string, Fault>;
