// src/publish/data-branch/links.ts
/** Returns a page of GitHub for reports and flamegraphs, the raw file for all others. */
function linkTo(place, path) {
	return linkBy(path.endsWith(".md") || path.startsWith("results/") && path.endsWith(".svg") ? "blob" : "raw", place, path);
}
const linkToImage = (place, path) => linkBy("raw", place, path);
function linkBy(view, { repository, branch, serverUrl, pages }, path) {
	const isMarkdown = path.endsWith(".md");
	if (pages !== void 0 && !isMarkdown) return `${pages}/${path}`;
	return `${serverUrl}/${repository}/${view}/${branch}/${path}`;
}

export { linkTo, linkToImage };