'use strict'

// Search as you type: the answer of the plain form replaces the list.
const form = document.getElementById('search')
if (form && form.method === 'get') {
  let wait = 0
  let running = null
  const ask = async () => {
    if (running) running.abort()
    running = new AbortController()
    const filled = [...new FormData(form)].filter(([, value]) => value !== '')
    const address = '?' + new URLSearchParams(filled)
    try {
      const answer = await fetch(address, { signal: running.signal })
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      for (const id of ['results', 'problem']) {
        const old = document.getElementById(id)
        const fresh = page.getElementById(id)
        if (old && fresh) old.replaceWith(fresh)
      }
      history.replaceState(null, '', address)
    } catch (err) {
      if (err.name !== 'AbortError') throw err
    }
  }
  form.addEventListener('input', () => {
    clearTimeout(wait)
    wait = setTimeout(ask, 120)
  })
}

// Keys of the inbox. They press the buttons of the operation that has the focus.
const waiting = [...document.querySelectorAll('.waiting')]
if (waiting.length > 0) {
  const move = (by) => {
    const at = waiting.findIndex((w) => w.contains(document.activeElement))
    const to = waiting[Math.max(0, Math.min(waiting.length - 1, at < 0 ? 0 : at + by))]
    to.focus()
    to.scrollIntoView({ block: 'nearest' })
  }
  move(0)
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input, textarea, select')) return
    if (event.key === 'j' || event.key === 'k') {
      move(event.key === 'j' ? 1 : -1)
      event.preventDefault()
      return
    }
    const one = waiting.find((w) => w.contains(document.activeElement))
    const part = one && one.querySelector(`[data-key="${CSS.escape(event.key)}"]`)
    if (!part) return
    event.preventDefault()
    if (part.tagName === 'DETAILS') {
      part.open = true
      part.querySelector('textarea').focus()
    } else {
      part.click()
    }
  })
}

// A page about something that runs shows it again every two seconds.
const renew = async () => {
  const main = document.querySelector('main[data-live]')
  if (!main) return
  try {
    const answer = await fetch(location.href)
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    if (answer.ok) main.replaceWith(page.querySelector('main'))
  } catch {
    // the server ended
    return
  }
  setTimeout(renew, 2000)
}
setTimeout(renew, 2000)
