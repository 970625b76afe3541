import { _enum, discriminatedUnion, literal, number$1 as number, object, string, unknown } from "../vendor/zod.js";

// src/recording/entry.ts
const recordingVersion = 1;
/** What makes a file one of ours, in its first line. */
const recordingFormat = "ppsgate recording";
const headSchema = object({
	kind: literal("head"),
	format: literal(recordingFormat),
	version: literal(1),
	/** Version of what recorded. */
	ppsgate: string(),
	/** `testbeds check`. */
	command: string(),
	date: string()
});
const at = number();
const stream = _enum(["stdout", "stderr"]);
/** What was asked of the world: by a connection of that label, or of the power by its name. */
const asked = discriminatedUnion("what", [
	object({ what: literal("connect") }),
	object({
		what: literal("run"),
		command: string(),
		shown: string().optional()
	}),
	object({
		what: literal("upload"),
		path: string(),
		mode: number(),
		bytes: number(),
		sha256: string()
	}),
	object({
		what: literal("power"),
		order: _enum([
			"open",
			"state",
			"cycle"
		])
	}),
	object({
		what: literal("sleep"),
		seconds: number()
	})
]);
const answer = discriminatedUnion("kind", [
	object({
		kind: literal("exited"),
		code: number()
	}),
	object({
		kind: literal("signaled"),
		signal: string()
	}),
	object({
		kind: literal("done"),
		said: string().optional()
	}),
	object({
		kind: literal("failed"),
		failure: string(),
		message: string()
	})
]);
/** Times are in seconds since 1970, by the clock of the machine that recorded. */
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("begins"),
		at,
		part: string(),
		request: unknown()
	}),
	object({
		kind: literal("tells"),
		at,
		part: string(),
		outcome: unknown()
	}),
	object({
		kind: literal("asks"),
		at,
		id: number(),
		host: string(),
		asked
	}),
	object({
		kind: literal("hears"),
		at,
		id: number(),
		stream,
		text: string()
	}),
	object({
		kind: literal("cut"),
		at,
		id: number(),
		stream,
		bytes: number(),
		sha256: string()
	}),
	object({
		kind: literal("ends"),
		at,
		id: number(),
		answer
	}),
	object({
		kind: literal("console"),
		at,
		host: string(),
		text: string()
	})
]);

export { entrySchema, headSchema, recordingFormat };