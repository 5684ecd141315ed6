import { excerpt, find } from './find.js'
import { element, say } from './page.js'

const field = document.getElementById('q')
const list = document.getElementById('found')
const SHOWN = 12

let index
let at = -1

/** Without this script the form asks the server, which searches in the same way. */
export function offerSearch() {
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found' }))
    field.setAttribute(name, value)
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Found')
  field.addEventListener('focus', load)
  field.addEventListener('input', show)
  field.addEventListener('keydown', press)
  list.addEventListener('click', (event) => event.target.closest('a') && close())
  document.addEventListener('click', (event) => event.target.closest('.search') || close())
  document.addEventListener('keydown', focusByKey)
}

/** What could not be loaded is asked for again with the next letter; until then the form asks the server. */
async function load() {
  index ??= fetch('/docs/search.json').then((answer) => (answer.ok ? answer.json() : undefined))
  const asked = index
  const found = await asked.catch(() => undefined)
  if (!found && index === asked) index = undefined
  return found
}

async function show() {
  const query = field.value
  if (!query.trim()) return close()
  // A letter that came while an earlier one still waited in vain asks for itself.
  const entries = (await load()) ?? (await load())
  if (!entries || query !== field.value) return
  const found = find(entries, query, SHOWN)
  list.replaceChildren(...(found.length ? found.map((entry, i) => option(entry, i, query)) : [nothing()]))
  list.hidden = false
  field.setAttribute('aria-expanded', 'true')
  choose(0)
  say(found.length === 1 ? '1 place' : `${found.length} places`)
}

const nothing = () => element('p', 'Nothing was found.', { role: 'option', 'aria-disabled': 'true' })

function option({ page, title, path, text }, i, query) {
  const made = element('a', '', { href: path, id: `found-${i}`, role: 'option', tabindex: '-1' })
  const line = element('span')
  line.append(...excerpt(text, query).map(({ text, hit }) => (hit ? element('mark', text) : text)))
  made.append(element('strong', title), ' ', element('small', title === page ? '' : page), line)
  return made
}

const options = () => [...list.querySelectorAll('a')]

function choose(next) {
  at = next
  for (const [i, one] of options().entries()) one.setAttribute('aria-selected', String(i === at))
  const chosen = options()[at]
  if (!chosen) return field.removeAttribute('aria-activedescendant')
  field.setAttribute('aria-activedescendant', chosen.id)
  chosen.scrollIntoView({ block: 'nearest' })
}

function close() {
  list.hidden = true
  at = -1
  field.setAttribute('aria-expanded', 'false')
  field.removeAttribute('aria-activedescendant')
}

function press(event) {
  if (event.key === 'Escape') return close()
  const all = options()
  if (list.hidden || !all.length) return
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (event.key === 'Enter') all[at].click()
  if (!step && event.key !== 'Enter') return
  event.preventDefault()
  if (step) choose((at + step + all.length) % all.length)
}

function focusByKey(event) {
  const held = event.ctrlKey || event.metaKey
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
  if (!(held && event.key === 'k') && !(event.key === '/' && !held && !typing)) return
  event.preventDefault()
  // It is always in sight; the page stays where it is read.
  field.focus({ preventScroll: true })
  field.select()
}
