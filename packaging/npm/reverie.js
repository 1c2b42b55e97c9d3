#!/usr/bin/env node
// Runs the binary that npm installed for this platform.
"use strict"
const { spawnSync } = require("node:child_process")

const name = `@reverie-memory/${process.platform}-${process.arch}`
let program
try {
  program = require.resolve(`${name}/bin/reverie${process.platform === "win32" ? ".exe" : ""}`)
} catch {
  console.error(`reverie: ${name} is not installed: npm was told to omit optional packages, or there is none for this platform`)
  process.exit(1)
}
const done = spawnSync(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true })
if (done.error) {
  console.error(`reverie: ${done.error.message}`)
  process.exit(1)
}
if (done.signal) process.kill(process.pid, done.signal)
process.exit(done.status ?? 1)
