// managed by reverie: written by `reverie init`, taken away by `reverie uninstall`; changes are lost
//
// Pipes a session's events to Reverie and gives the agent what it answers. Nothing here may throw, nor wait longer
// than its deadline: OpenCode waits for a hook without end, and some errors end the session.

import { execFile, spawn } from "node:child_process"

const program = "PROGRAM"
const deadlines = "DEADLINES"
const serves = "SERVES"
const patience = 3 // so many calls in a row that came to nothing, and Reverie is left alone until OpenCode starts anew

export const Reverie = async (host) => {
  if (!["", "0"].includes(process.env.REVERIE_DISABLE ?? "") || process.env.REVERIE_HOOK_DEPTH) return {}
  const cwd = host?.directory || process.cwd()
  let failures = 0

  // within settles for null when a promise takes too long or fails.
  const within = (ms, promise) =>
    new Promise((done) => {
      const timer = setTimeout(done, ms, null)
      Promise.resolve(promise).then(
        (value) => { clearTimeout(timer); done(value ?? null) },
        () => { clearTimeout(timer); done(null) },
      )
    })

  // OpenCode marks what agents run; the program is started for what a person typed.
  const { OPENCODE, AGENT, ...env } = process.env

  // run starts the program with text on its standard input; what it prints, or null.
  const run = (args, text, ms) =>
    within(ms + 200, new Promise((done) => {
      const child = execFile(program, args, { cwd, env, timeout: ms, killSignal: "SIGKILL", maxBuffer: 1 << 20, windowsHide: true },
        (error, out) => done(error ? null : out))
      child.stdin?.on("error", () => {})
      child.stdin?.end(text)
    }))

  const event = (name, id, more) => JSON.stringify({ hook_event_name: name, session_id: id, parent_id: parents.get(id) || "", cwd, ...more })

  // ask delivers an event and waits for the answer.
  const ask = async (name, id, more) => {
    if (failures >= patience || !id) return null
    const text = await run(["hook", "opencode", name], event(name, id, more), deadlines[name])
    failures = text === null ? failures + 1 : 0
    return text || null
  }

  // tell delivers an event and waits for nothing, not even when OpenCode ends.
  const tell = (name, id) => {
    if (failures >= patience || !id) return
    const child = spawn(program, ["hook", "opencode", name], { cwd, env, detached: true, stdio: ["pipe", "ignore", "ignore"], windowsHide: true })
    child.on("error", () => { failures++ })
    child.stdin?.on("error", () => {})
    child.stdin?.end(event(name, id))
    child.stdin?.unref?.()
    child.unref()
    const timer = setTimeout(() => child.kill("SIGKILL"), 10 * deadlines[name])
    timer.unref?.()
    child.on("exit", () => clearTimeout(timer))
  }

  const parents = new Map() // session → the session that started it, or ""
  const given = new Map() // session → promise of the text that its system prompt gets

  // start delivers that a session begins, once, and keeps the answer.
  const start = (id, source) => {
    if (!given.has(id)) given.set(id, begin(id, source))
    return given.get(id)
  }
  const begin = async (id, source) => {
    if (!parents.has(id)) { // it began before we did
      const session = await within(500, host?.client?.session?.get?.({ path: { id } }))
      parents.set(id, session?.data?.parentID || "")
    }
    return ask("session.created", id, { source })
  }

  // partID is behind all others of this message: they are sorted by their ids, which begin with the time.
  const partID = () => {
    const time = ((BigInt(Date.now()) + 1n) * 0x1000n) & 0xffffffffffffn
    const letters = Array.from({ length: 14 }, () => Math.floor(Math.random() * 36).toString(36)).join("")
    return "prt_" + time.toString(16).padStart(12, "0") + letters
  }

  // unquoted takes off the quotes that OpenCode's own command line puts round an argument.
  const unquoted = (text) => {
    try {
      const inner = /^".*"$/s.test(text) ? JSON.parse(text) : text
      return typeof inner === "string" ? inner : text
    } catch {
      return text
    }
  }

  // safe makes a hook of which OpenCode sees no error.
  const safe = (hook) => async (...args) => { try { await hook(...args) } catch {} }

  return {
    config: safe(async (config) => {
      if (serves) {
        config.mcp ??= {}
        config.mcp.reverie ??= { type: "local", command: [program, "mcp", "--agent", "opencode"], enabled: true, timeout: 3000 }
      }
      config.command ??= {}
      config.command.remember ??= {
        description: "keep a statement in this repository's memory",
        template: "<reverie-command>\nThe user put this into the repository's memory; a line below says what came of it. Repeat that line, and do nothing else.\n\n$ARGUMENTS\n</reverie-command>",
      }
    }),

    "command.execute.before": safe(async (input, output) => {
      for (const part of output.parts) { // it is stored with the session, and tells that nobody typed this
        if (part.type === "text") part.metadata = { ...part.metadata, reverie: "command" }
      }
      const statement = unquoted((input.arguments || "").trim())
      if (input.command !== "remember" || !statement) return
      const kept = failures >= patience ? null : await run(["remember", "-"], statement + "\n", 5000)
      const text = kept === null ? "It could not be kept; `reverie remember` in a terminal says why." : "Kept: " + kept.trim()
      output.parts.push({ type: "text", text: "<reverie-command>" + text + "</reverie-command>" })
    }),

    event: safe(async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      const id = sessionID || info?.id
      switch (event.type) {
        case "session.created":
          parents.set(id, info?.parentID || "")
          await start(id, "startup")
          break
        case "session.idle":
          tell("session.idle", id)
          break
        case "session.compacted": {
          const before = given.get(id)
          given.set(id, ask("session.compacted", id, { source: "compact" }).then((text) => text ?? before ?? null))
          await given.get(id)
          break
        }
      }
    }),

    "chat.message": safe(async (input, output) => {
      const id = input.sessionID
      await start(id, "resume")
      const typed = output.parts
        .filter((p) => p.type === "text" && !p.synthetic && !p.ignored && p.metadata?.reverie !== "command" && !p.text.startsWith("<reverie-"))
        .map((p) => p.text)
      if (typed.length === 0) return
      const text = await ask("chat.message", id, { prompt: typed.join("\n") })
      if (text) output.parts.push({ id: partID(), sessionID: id, messageID: output.message.id, type: "text", text, synthetic: true })
    }),

    "experimental.chat.system.transform": safe(async (input, output) => {
      const text = input.sessionID && (await start(input.sessionID, "resume"))
      if (text) output.system.push(text)
    }),

    "experimental.session.compacting": safe(async (input, output) => {
      const text = await ask("session.compacting", input.sessionID)
      if (text) output.context.push(text)
    }),

    "shell.env": safe(async (input, output) => {
      if (!input.sessionID) return
      output.env.REVERIE_AGENT = "opencode"
      output.env.REVERIE_SESSION = input.sessionID
    }),

    dispose: safe(async () => {
      await Promise.all([...given.keys()].slice(-16).map((id) => ask("dispose", id)))
    }),
  }
}
