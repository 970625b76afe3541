// src/build/variant-name.ts
/** Base and patched, of which a verdict is given; all others are shown beside them. */
const isJudged = (variant) => variant === "base" || variant === "patched";
/** Of an earlier diff of a revision: `diff 80345`. */
const diffName = (diff) => `diff ${diff}`;
/** As a part of a path, or of the name of a boot environment: `diff-80345`. */
const pathName = (variant) => variant.replaceAll(" ", "-");

export { isJudged as n, pathName as r, diffName as t };