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
  document.querySelector('.keys').hidden = false
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input:not([type=checkbox]), textarea, select')) return
    if (event.key === 'j' || event.key === 'k') {
      move(event.key === 'j' ? 1 : -1)
      event.preventDefault()
      return
    }
    const within = [waiting.find((w) => w.contains(document.activeElement)), ...document.querySelectorAll('main > form')]
    const part = within.map((one) => one && one.querySelector(`[data-key="${CSS.escape(event.key)}"]`)).find(Boolean)
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

// The search of exported pages. Its file holds every memory, so it is read at the first key.
const find = document.getElementById('find')
if (find) {
  const words = document.getElementById('q')
  const results = document.getElementById('results')
  const unsearched = results.firstElementChild
  let reading = null
  const read = () => {
    reading ??= new Promise((resolve, reject) => {
      const file = document.createElement('script')
      file.src = results.dataset.root + 'index.js'
      file.onload = resolve
      file.onerror = reject
      document.head.append(file)
    })
    return reading
  }
  // score is 0 for a memory that lacks a word. A word in the statement counts most.
  const score = (memory, wanted) => {
    let sum = 0
    for (const word of wanted) {
      const [key, value] = word.split(':', 2)
      let points = 0
      if (value && key === 'kind') points = memory.kind === value ? 1 : 0
      else if (value && key === 'by') points = memory.by.startsWith(value) ? 1 : 0
      else if (value && key === 'tag') points = (memory.tags || []).some((t) => t.toLowerCase() === value) ? 1 : 0
      else {
        if (memory.text.toLowerCase().includes(word)) points += 3
        if ((memory.tags || []).some((t) => t.toLowerCase().includes(word))) points += 2
        if ((memory.body || '').toLowerCase().includes(word)) points += 1
      }
      if (points === 0) return 0
      sum += points
    }
    return sum
  }
  const element = (name, kind, text) => {
    const e = document.createElement(name)
    e.className = kind
    e.textContent = text
    return e
  }
  const show = async () => {
    const asked = words.value
    const wanted = asked.toLowerCase().split(/\s+/).filter(Boolean)
    if (wanted.length === 0) {
      results.replaceChildren(unsearched)
      return
    }
    await read()
    if (words.value !== asked) return
    const hits = memories.map((memory) => ({ memory, score: score(memory, wanted) })).filter((h) => h.score > 0)
    hits.sort((a, b) => b.score - a.score)
    const rows = element('ol', 'rows', '')
    for (const { memory } of hits.slice(0, 100)) {
      const row = element('li', '', '')
      const link = element('a', 'text', memory.text)
      link.href = results.dataset.root + 'memory/' + encodeURIComponent(memory.id) + '.html'
      const about = element('div', 'about', '')
      about.append(element('span', 'kind', memory.kind), ' ' + (memory.tags || []).map((t) => '#' + t + ' ').join('') + memory.by)
      row.append(link, about)
      rows.append(row)
    }
    results.replaceChildren(element('p', 'remark', hits.length === 1 ? '1 memory' : hits.length + ' memories'), rows)
  }
  find.hidden = false
  find.addEventListener('submit', (event) => event.preventDefault())
  words.addEventListener('input', show)
  // a link to a tag or an author
  const given = new URLSearchParams(location.search)
  for (const key of ['tag', 'by']) {
    if (given.has(key)) words.value = key + ':' + given.get(key)
  }
  if (words.value) show()
}
