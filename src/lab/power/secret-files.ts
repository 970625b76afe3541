// Reads the password, or an authority's certificate, of a power controller.
import { ExposedError } from '../../config/secret.ts';
import { reasonOf } from '../../model/one-line.ts';
import { PowerError } from './power-controller.ts';
import type { PowerDeps } from './power-deps.ts';

/**
 * Reads one line of the file, or else the environment. Throws a PowerError that names the source, never the content.
 */
export async function readPassword(
  label: string,
  path: string | undefined,
  deps: Pick<PowerDeps, 'readSecret' | 'password'>,
): Promise<string> {
  const text =
    path === undefined
      ? (deps.password() ?? '')
      : await readFileFor(label, 'password', path, { readFile: deps.readSecret });
  const password = text.replace(/\r?\n$/, '');
  if (/^\P{Cc}+$/u.test(password)) return password;
  const source =
    path === undefined
      ? 'PPSGATE_BMC_PASSWORD of the environment, because no `passwordFile` is configured'
      : `the password file ${path}`;
  throw new PowerError(
    `${label} cannot be opened with ${source}: it is empty or has several lines; write only the password there.`,
  );
}

export async function readFileFor(
  label: string,
  what: string,
  path: string,
  deps: Pick<PowerDeps, 'readFile'>,
): Promise<string> {
  try {
    return await deps.readFile(path);
  } catch (error) {
    if (error instanceof ExposedError) {
      throw new PowerError(`${label} cannot be opened: ${error.message}.`);
    }
    throw new PowerError(
      `${label} cannot be opened without its ${what} file: ${reasonOf(error)}; check the path, and that this user may read it.`,
      { cause: error },
    );
  }
}
