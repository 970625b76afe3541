// Links to files of the data branch.

export type DataPlace = {
  repository: string;
  branch: string;
  serverUrl: string;
  /** URL of the branch as a web site, without a trailing slash. */
  pages?: string;
};

/** Returns a page of GitHub for reports and flamegraphs, the raw file for all others. */
export function linkTo(place: DataPlace, path: string): string {
  // Pages embed a badge by its raw URL.
  const isPage = path.endsWith('.md') || (path.startsWith('results/') && path.endsWith('.svg'));
  return linkBy(isPage ? 'blob' : 'raw', place, path);
}

export const linkToImage = (place: DataPlace, path: string): string => linkBy('raw', place, path);

function linkBy(view: 'blob' | 'raw', { repository, branch, serverUrl, pages }: DataPlace, path: string): string {
  const isMarkdown = path.endsWith('.md');
  if (pages !== undefined && !isMarkdown) return `${pages}/${path}`;
  return `${serverUrl}/${repository}/${view}/${branch}/${path}`;
}
