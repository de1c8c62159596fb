// Tells what the Khronos validator says of exports beyond what it says of their sources; fails on new errors.
// node .ci/compare-gltf.mjs SOURCES EXPORTS, with `gltf-validator` installed where node finds it. The exports of a joint
// more per model: SINEW_EXPORTS=EXPORTS cargo test -p sinew-nodes --test gltf_models
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const validator = createRequire(path.join(process.cwd(), 'x.js'))('gltf-validator');
const [sources, exports] = process.argv.slice(2);

async function issues(file) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), { maxIssues: 0 });
  const byCode = new Map();
  for (const message of report.issues.messages) {
    const key = `${message.severity} ${message.code}`;
    byCode.set(key, [...(byCode.get(key) ?? []), message]);
  }
  return byCode;
}

let errors = 0;
for (const file of fs.readdirSync(exports).sort()) {
  const before = await issues(path.join(sources, file));
  for (const [key, messages] of await issues(path.join(exports, file))) {
    const known = before.get(key)?.length ?? 0;
    if (messages.length <= known || messages[0].severity > 1) continue;
    console.log(file, messages[0].code, `${known} -> ${messages.length}`, messages[0].pointer, messages[0].message);
    if (messages[0].severity === 0) errors += 1;
  }
}
console.log(errors ? `${errors} new kinds of error` : 'no new errors');
process.exitCode = errors ? 1 : 0;
