// Where people find what lies in the data branch.

export type DataPlace = {
  /** `owner/name`. */
  repository: string;
  branch: string;
  /** As in `GITHUB_SERVER_URL`. */
  serverUrl: string;
  /** Where the branch is published as a web site, without a slash at its end. */
  pages?: string;
};

/** The URL of a file of the branch: a page of GitHub's for reports and flamegraphs, the file itself for all else. */
export function linkTo({ repository, branch, serverUrl, pages }: DataPlace, path: string): string {
  const isMarkdown = path.endsWith('.md');
  if (pages !== undefined && !isMarkdown) return `${pages}/${path}`;
  // A badge is shown by pages that name the file itself.
  const isGraph = path.startsWith('results/') && path.endsWith('.svg');
  const view = isMarkdown || isGraph ? 'blob' : 'raw';
  return `${serverUrl}/${repository}/${view}/${branch}/${path}`;
}
