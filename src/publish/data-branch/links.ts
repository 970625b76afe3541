// Where people find what lies in the data branch.

export type DataPlace = {
  /** `owner/name`. */
  repository: string;
  branch: string;
  /** The server's URL, as in `GITHUB_SERVER_URL`. */
  serverUrl: string;
  /** Where the branch is published as a web site, without a slash at its end. */
  pages?: string;
};

/** The URL of a file of the branch: a page of GitHub's for reports and flamegraphs, the file itself for all else. */
export function linkTo(place: DataPlace, path: string): string {
  // A badge is shown by pages that name the file itself.
  const isPage = path.endsWith('.md') || (path.startsWith('results/') && path.endsWith('.svg'));
  return linkBy(isPage ? 'blob' : 'raw', place, path);
}

/** The URL of a picture of the branch, for pages that show it. */
export const linkToImage = (place: DataPlace, path: string): string => linkBy('raw', place, path);

function linkBy(
  view: 'blob' | 'raw',
  { repository, branch, serverUrl, pages }: DataPlace,
  path: string,
): string {
  const isMarkdown = path.endsWith('.md');
  if (pages !== undefined && !isMarkdown) return `${pages}/${path}`;
  return `${serverUrl}/${repository}/${view}/${branch}/${path}`;
}
