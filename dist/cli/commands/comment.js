import { runToExit } from "../../system/exit.js";
import { usualConfig } from "./find-config.js";

// src/cli/commands/comment.ts
function define(command) {
	command.argument("<text>", "the comment, like \"/ppsgate run margin=2%\"").option("--dry-run", "required: only show the decision; post and measure nothing").option("--by <login>", "author of the comment", "maintainer").option("--role <role>", "the author's permission: write or read", "write").option("--fork", "the pull request comes from a fork").option("--base <commit>", "base of the pull request, whose ppsgate.yml applies", "main").option("--head <commit>", "head of the pull request", "HEAD").option("-r, --repository <dir>", "git repository with the commits", ".").option("-c, --config <file>", "path of the configuration in the repository", usualConfig).option("--pull-request <name>", "read this pull request from GitHub, like example/router#7, with the token in GITHUB_TOKEN").addHelpText("after", `
Examples:
  ppsgate comment "/ppsgate run" --dry-run
  ppsgate comment "/ppsgate run" --dry-run --fork --by alice --role read

Without --pull-request it uses no network.
Exits 0 if the comment is approved or measures nothing, and 2 if it is refused.`).action(async (text, options) => {
		await runToExit(async () => {
			const { decide } = await import("./run-comment.js");
			return decide(text, options);
		}, command.optsWithGlobals());
	});
}

export { define };