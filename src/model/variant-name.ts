// Names the variants of an experiment for reports and paths.

/** Base and patched have a verdict; any other variant is shown next to them. */
export const isJudged = (variant: string): boolean => variant === 'base' || variant === 'patched';

/** `diff 80345`: an earlier diff of a revision. */
export const diffName = (diff: number): string => `diff ${diff}`;

/** Names a kernel that was linked several times; see `Run`. */
export const layoutName = (variant: string, layout: number | undefined): string =>
  layout === undefined ? variant : `${variant} layout ${layout}`;

export const pathName = (variant: string): string => variant.replaceAll(' ', '-');
