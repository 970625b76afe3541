// Files of src/ that what we draw has in itself.
import { readFileSync } from 'node:fs';

/** Without what only a reader of the file needs: its indentation. */
export const embedded = (file: URL): string => readFileSync(file, 'utf8').replaceAll(/^\s+/gm, '');
