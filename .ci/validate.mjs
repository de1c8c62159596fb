// Runs the Khronos glTF validator over exported models and fails on every kind of error that a model's input had not.
//
//   node validate.mjs EXPORT [INPUT]        an export, and the file it was made from
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { createRequire } from "node:module";

const { validateBytes } = createRequire(resolve(process.cwd(), "package.json"))("gltf-validator");

async function errors(file) {
  const bytes = new Uint8Array(await readFile(file));
  const report = await validateBytes(bytes, {
    uri: basename(file),
    maxIssues: 0,
    externalResourceFunction: async (uri) => new Uint8Array(await readFile(resolve(dirname(file), decodeURI(uri)))),
  });
  const found = new Map();
  for (const message of report.issues.messages.filter((m) => m.severity === 0)) {
    const list = found.get(message.code) ?? [];
    list.push(`${message.pointer ?? ""}: ${message.message}`);
    found.set(message.code, list);
  }
  return { found, warnings: report.issues.numWarnings };
}

const [exported, input] = process.argv.slice(2);
const after = await errors(exported);
const before = input ? await errors(input) : { found: new Map(), warnings: 0 };
let bad = false;
for (const [code, list] of [...after.found].sort()) {
  const had = before.found.get(code)?.length ?? 0;
  if (list.length > had) {
    bad = true;
    console.error(`${exported}: ${code}: ${list.length} errors, the input had ${had}; the first: ${list[0]}`);
  }
}
console.log(`${bad ? "bad " : "good"} ${exported} (warnings ${after.warnings}, input ${before.warnings})`);
process.exit(bad ? 1 : 0);
