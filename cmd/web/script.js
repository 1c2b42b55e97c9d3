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
