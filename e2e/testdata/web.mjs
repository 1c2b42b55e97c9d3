// Drives the web page in Chromium. Arguments: the folder of playwright-core and axe-core, the links that 'reverie web' printed
// in a repository with hostile texts and in one that learned from sessions, the folder of an export, and a folder for pictures.
// It ends with the first failure.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [parts, link, learned, site, pictures] = process.argv.slice(2)
const require = createRequire(path.join(parts, 'package.json'))
const { chromium } = require('playwright-core')
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8')
const origin = new URL(link).origin
let root // the address of the first page

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
const faults = []

// visitor opens a page in a context of its own, and watches what a page must not do.
async function visitor(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options })
  const page = await context.newPage()
  page.on('dialog', (d) => { faults.push(`${page.url()}: dialog ${d.message()}`); d.dismiss() })
  page.on('pageerror', (e) => faults.push(`${page.url()}: ${e}`))
  page.on('console', (m) => { if (m.type() === 'error') faults.push(`${page.url()}: ${m.text()}`) })
  page.on('request', (r) => { if (new URL(r.url()).origin !== new URL(page.url()).origin && !r.isNavigationRequest()) faults.push(`${page.url()} asks for ${r.url()}`) })
  return page
}

// accessible checks a page with axe, in light and dark colours.
async function accessible(page) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(axe)
    const { violations, passes } = await page.evaluate(() => globalThis.axe.run({ preload: false }))
    assert.ok(passes.length > 5, `axe looked at nothing on ${page.url()}`)
    for (const v of violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')) {
      faults.push(`${page.url()} (${colorScheme}): ${v.id}: ${v.nodes.map((n) => n.html + ' ' + n.failureSummary).join('\n')}`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

const step = async (name, run) => {
  const began = Date.now()
  await run()
  assert.deepEqual(faults, [], name)
  console.log(`${name}: ${Date.now() - began} ms`)
}

const page = await visitor()
const text = (selector) => page.locator(selector).innerText()

await step('enter', async () => {
  await page.goto(link)
  root = page.url()
  assert.match(root, /^http:\/\/127\.0\.0\.1:\d+\/\w{26}\/$/)
  assert.equal(await page.evaluate(() => document.cookie), '', 'scripts can read the cookie')
  assert.equal((await browser.newContext().then((c) => c.request.get(link))).status(), 403, 'the link works twice')
})

await step('search as you type', async () => {
  await page.fill('#q', 'pnpm')
  await page.waitForFunction(() => document.querySelectorAll('#results .text').length === 1)
  assert.equal(await text('#results .text'), 'Use pnpm in web')
  assert.match(page.url(), /\?q=pnpm/)
  await page.fill('#q', '')
  await page.selectOption('select[name=kind]', 'fact')
  await page.waitForFunction(() => document.querySelector('#results').innerText.includes('9090') && !document.querySelector('#results').innerText.includes('pnpm'))
  await page.fill('#q', 'kind:nonsense')
  await page.waitForSelector('#problem [role=alert]')
  await page.goto(root)
})

await step('search without script', async () => {
  const state = await page.context().storageState()
  const plain = await visitor({ javaScriptEnabled: false, storageState: state })
  await plain.goto(root)
  await plain.fill('#q', 'pnpm')
  await plain.press('#q', 'Enter')
  assert.deepEqual(await plain.locator('#results .text').allInnerTexts(), ['Use pnpm in web'])
  await plain.context().close()
})

await step('by keyboard alone', async () => {
  await page.goto(root)
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement.id), 'q')
})

await step('a memory', async () => {
  await page.click('text=The port is 9090')
  assert.equal(await text('.timeline del'), '8080')
  assert.equal(await text('.timeline ins'), '9090')
  await accessible(page)
})

await step('hostile text on every page', async () => {
  for (const at of ['', '?q=onerror', '?state=all', 'inbox', 'conflicts', 'trust', 'sessions', 'loops', 'growth']) {
    await page.goto(root + at)
    await accessible(page)
    for (const href of await page.locator('main a[href*="/memory/"], main a[href*="/session/"]').evaluateAll((all) => [...new Set(all.map((a) => a.href))])) {
      assert.equal((await page.goto(href)).status(), 200, href)
      assert.equal(await page.evaluate(() => globalThis.hurt), undefined, href)
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${href} is too wide`)
    }
  }
  await page.goto(root + '?q=onerror')
  assert.match(await text('#results'), /<img src=x onerror=hurt\(1\)>.*<U\+202E>/s)
})

await step('evidence, uses and the session of a learned memory', async () => {
  const reader = await visitor({ viewport: { width: 1000, height: 700 } })
  const picture = (name) => reader.screenshot({ path: path.join(pictures, name + '.png') })
  await reader.goto(learned)
  const at = reader.url()
  await picture('search')
  await reader.emulateMedia({ colorScheme: 'dark' })
  await picture('search-dark')
  await reader.emulateMedia({ colorScheme: 'light' })
  const titles = await reader.locator('#results .text').allInnerTexts()
  await reader.click('#results .text')
  assert.equal(await reader.locator('h1').innerText(), titles[0])
  const quote = await reader.locator('blockquote').first().innerText()
  assert.match(await reader.locator('main').innerText(), /claude\/next/)
  await accessible(reader)
  await picture('memory')
  await reader.click('blockquote + .about a')
  const words = (t) => t.replace(/\s+/g, ' ')
  assert.ok(words(await reader.locator('li:target').innerText()).includes(words(quote)), `the linked event has no ${quote}`)
  assert.ok((await reader.locator('h2 + ul a').allInnerTexts()).length > 0, 'the session names nothing that was learned')
  await accessible(reader)
  await picture('session')
  for (const name of ['inbox', 'growth']) {
    await reader.goto(at + name)
    await accessible(reader)
    await picture(name)
  }
  await reader.context().close()
})

await step('a conflict', async () => {
  await page.goto(root + 'conflicts')
  assert.deepEqual(await page.locator('.sides li p').allInnerTexts(), ['Deploy on Mondays', 'Deploy on Tuesdays'])
  assert.match(await text('main'), /reverie edit cc000000 --take 2/)
})

await step('another page in the same browser', async () => {
  await page.goto(root + 'inbox')
  const id = await page.locator('.waiting').first().getAttribute('id')
  const seen = await page.locator('input[name=seen]').first().inputValue()
  const sent = []
  const evil = createServer((request, answer) => {
    sent.push(request.headers.cookie)
    answer.setHeader('Content-Type', 'text/html')
    answer.end(`<iframe src="${root}"></iframe><script src="${root}script.js"></script>
      <form method="post" action="${root}inbox/${id}/accept"><input name="seen" value="${seen}"><button>go</button></form>`)
  })
  await new Promise((resolve) => evil.listen(0, '127.0.0.1', resolve))
  const other = await page.context().newPage() // it has the cookie
  const refused = []
  other.on('requestfailed', (r) => refused.push(r.url()))
  other.on('response', (r) => { if (r.url().startsWith(origin)) refused.push(`${r.status()} ${r.url()}`) })
  const at = `http://127.0.0.1:${evil.address().port}/`
  await other.goto(at)
  const read = await other.evaluate((url) => fetch(url, { credentials: 'include' }).then((r) => r.text(), () => 'refused'), root)
  assert.equal(read, 'refused')
  assert.equal(await other.evaluate((url) => fetch(url, { credentials: 'include', method: 'POST', mode: 'no-cors' }).then((r) => r.type, () => 'refused'), `${root}inbox/${id}/accept`), 'refused')
  assert.ok(refused.some((r) => r.includes('script.js')), `a script of ours is loaded: ${refused}`)
  assert.equal(await other.frames()[1].evaluate(() => document.body?.innerText.includes('Memories')).catch(() => false), false, 'a frame shows the page')
  await other.click('button')
  await other.waitForURL(root + 'inbox/**')
  assert.match(await other.locator('body').innerText(), /another page sent this request/)
  await other.close()
  evil.close()
  assert.deepEqual(sent.filter(Boolean), [], 'another server gets the cookie')
  assert.ok(sent.length > 0)
  await page.goto(root + 'inbox')
  assert.equal(await page.locator('.waiting').first().getAttribute('id'), id)
})

await step('decide on several by keys', async () => {
  await page.goto(root + 'inbox')
  const titles = () => page.locator('.waiting h2').allInnerTexts()
  const before = await titles()
  for (const [key, word] of [['Y', 'accepted'], ['N', 'rejected']]) {
    for (const pressed of ['x', 'j', 'x']) await page.keyboard.press(pressed)
    assert.equal(await page.locator('input[name=chosen]:checked').count(), 2)
    if (key === 'N') await page.locator('#chosen input[name=reason]').fill('not true')
    await page.locator('.waiting').first().focus()
    await page.keyboard.press(key)
    await page.waitForSelector(`.said:has-text("${word}")`)
    assert.deepEqual(await titles(), before.slice(2), key)
    await page.keyboard.press('u')
    await page.waitForSelector('.said:has-text("undone: ")')
    assert.deepEqual(await titles(), before, key)
  }
})

await step('review by keys', async () => {
  await page.goto(root + 'inbox')
  const titles = async () => (await page.locator('.waiting h2').allInnerTexts()).map((t) => t.replace(/^\S+ /, ''))
  const before = await titles()
  assert.equal(before.length, 4)
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.keyboard.press('y')
  await page.waitForSelector('.said')
  assert.equal(await text('.said'), 'accepted: ' + before[0])
  await page.keyboard.press('e')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('Typed in the browser\n\nwith a reason')
  await page.click('details[open] button')
  await page.waitForSelector('text=changed: Typed in the browser')
  await page.locator('.waiting', { hasText: 'Typed in the browser' }).focus()
  await page.keyboard.press('y')
  await page.waitForSelector('text=accepted: Typed in the browser')
  const left = await titles()
  assert.equal(left.length, 2)
  await page.locator('.waiting').first().locator('input[name=reason]').fill('not true')
  await page.locator('.waiting').first().locator('button[data-key=n]').click()
  await page.waitForSelector('text=rejected: ' + left[0].slice(0, 20))
  await page.locator('.waiting').first().focus()
  await page.keyboard.press('u')
  await page.waitForSelector('.said:has-text("undone: ")')
  assert.deepEqual(await titles(), left)
  await page.click('#undo button')
  await page.locator('.waiting', { hasText: 'Typed in the browser' }).focus()
  await page.keyboard.press('y')
  await page.waitForSelector('text=accepted: Typed in the browser')
  await page.locator('.waiting').first().locator('button[data-key=n]').click()
  await page.waitForSelector('text=rejected: ')
})

await step('addresses of nothing', async () => {
  for (const [address, code] of [['loop/..%2f', 404], ['loop/none', 404], ['memory/ffff', 404], ['session/claude/none', 404]]) {
    assert.equal((await page.request.get(root + address)).status(), code, address)
  }
})

// The same checks of an export, from disk and from a server.
const served = createServer(async (request, answer) => {
  const name = path.join(site, path.normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)))
  const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }
  try {
    const body = await readFile(name.endsWith('/') ? name + 'index.html' : name)
    answer.setHeader('Content-Type', types[path.extname(name)] ?? 'text/html')
    answer.end(body)
  } catch {
    answer.statusCode = 404
    answer.end()
  }
})
await new Promise((resolve) => served.listen(0, '127.0.0.1', resolve))
for (const start of [pathToFileURL(path.join(site, 'index.html')).href, `http://127.0.0.1:${served.address().port}/index.html`]) {
  await step('export at ' + start.slice(0, 5), async () => {
    const reader = await visitor()
    await reader.goto(start)
    await accessible(reader)
    await reader.fill('#q', 'pnpm')
    await reader.waitForFunction(() => document.querySelectorAll('#results .text').length === 1)
    await reader.click('#results .text')
    assert.equal(await reader.locator('h1').innerText(), 'Use pnpm in web')
    await accessible(reader)
    await reader.click('text=#tools')
    await reader.waitForFunction(() => document.querySelector('#q').value === 'tag:tools' && document.querySelectorAll('#results .text').length === 1)
    await reader.fill('#q', 'onerror')
    await reader.waitForFunction(() => document.querySelector('#results').innerText.includes('<U+202E>'))
    await reader.click('#results .text')
    assert.equal(await reader.evaluate(() => globalThis.hurt), undefined)
    for (const name of ['growth.html', 'conflicts.html', 'kind/fact.html']) {
      await reader.goto(new URL(name, start).href)
      await accessible(reader)
    }
    await reader.context().close()
  })
}
served.close()
await browser.close()
