// Makes overlays of a variant from the text of its files.
import type { Overlay } from '../../src/kernel/overlay.ts';

export const overlay = (variant: string, files: Record<string, string>): Overlay => ({
  variant,
  commit: '0'.repeat(40),
  files: Object.entries(files).map(([path, content]) => ({
    path,
    mode: '100644',
    content,
    sha256: '',
  })),
});
