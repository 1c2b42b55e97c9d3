// Makes npm packages of the binaries that goreleaser left in dist: one for each platform, and one
// that depends on them all as optional and runs the one that npm installed.
//
//	node packaging/npm/make.mjs dist

import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const dist = process.argv[2] ?? "dist"
const { version } = JSON.parse(readFileSync(join(dist, "metadata.json"), "utf8"))
const binaries = JSON.parse(readFileSync(join(dist, "artifacts.json"), "utf8")).filter((a) => a.type === "Binary")
const npm = { os: { windows: "win32" }, cpu: { amd64: "x64" } }
const common = { version, license: "MIT", description: "A repository's memory, kept in git" }

const write = (name, manifest, files) => {
  const dir = join(dist, "npm", name.replace("/", "-").replace("@", ""))
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(join(dir, "bin"), { recursive: true })
  writeFileSync(join(dir, "package.json"), JSON.stringify({ name, ...common, ...manifest }, null, 2) + "\n")
  for (const [from, to] of files) {
    copyFileSync(from, join(dir, to))
    chmodSync(join(dir, to), to.startsWith("bin/") ? 0o755 : 0o644)
  }
}

const platforms = {}
for (const { path, goos, goarch } of binaries) {
  const os = npm.os[goos] ?? goos
  const cpu = npm.cpu[goarch] ?? goarch
  const name = `@reverie-memory/${os}-${cpu}`
  platforms[name] = version
  write(name, { os: [os], cpu: [cpu], files: ["bin"] }, [[path, os === "win32" ? "bin/reverie.exe" : "bin/reverie"], ["LICENSE", "LICENSE"]])
}
write("reverie-memory", { mcpName: "io.github.reverie-memory/reverie", bin: { reverie: "bin/reverie.js" }, files: ["bin"],
  engines: { node: ">=18" }, optionalDependencies: platforms },
  [[join(here, "reverie.js"), "bin/reverie.js"], ["LICENSE", "LICENSE"], ["README.md", "README.md"]])
