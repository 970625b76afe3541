// Names the folder of prepared images.
import { isAbsolute, join } from 'node:path';

/** Below the cache folder of the XDG Base Directory Specification. */
export function imagesFolder({ XDG_CACHE_HOME: cache = '' }: NodeJS.ProcessEnv, home: string) {
  return join(isAbsolute(cache) ? cache : join(home, '.cache'), 'ppsgate/images');
}
