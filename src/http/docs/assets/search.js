import { excerpt, find, prepare } from './find.js'
import { announce, element } from './page.js'

const field = document.getElementById('q')
const list = document.getElementById('found')
const MAX_RESULTS = 12

let index
let selected = -1

/** Without this script the form submits to the server, which runs the same search. */
export function addSearch() {
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found' }))
    field.setAttribute(name, value)
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Search results')
  field.addEventListener('focus', load)
  field.addEventListener('input', show)
  field.addEventListener('keydown', handleKey)
  list.addEventListener('click', (event) => event.target.closest('a') && close())
  document.addEventListener('click', (event) => event.target.closest('.search') || close())
  document.addEventListener('keydown', focusByKey)
}

/** A failed load is retried on the next key press; until then the form submits to the server. */
async function load() {
  index ??= fetch('/docs/search.json').then((response) => (response.ok ? response.json().then(prepare) : undefined))
  const pending = index
  const found = await pending.catch(() => undefined)
  if (!found && index === pending) index = undefined
  return found
}

async function show() {
  const query = field.value
  if (!query.trim()) return close()
  // The first call may share a failed load of an earlier key press, so this one retries.
  const entries = (await load()) ?? (await load())
  if (!entries || query !== field.value) return
  const found = find(entries, query, MAX_RESULTS)
  list.replaceChildren(...(found.length ? found.map((entry, i) => option(entry, i, query)) : [noResults()]))
  list.hidden = false
  field.setAttribute('aria-expanded', 'true')
  choose(0)
  announce(found.length === 1 ? '1 result' : `${found.length} results`)
}

const noResults = () => element('p', 'No results.', { role: 'option', 'aria-disabled': 'true' })

function option({ page, title, path, text }, i, query) {
  const node = element('a', '', { href: path, id: `found-${i}`, role: 'option', tabindex: '-1' })
  const line = element('span')
  line.append(...excerpt(text, query).map(({ text, hit }) => (hit ? element('mark', text) : text)))
  node.append(element('strong', title), ' ', element('small', title === page ? '' : page), line)
  return node
}

const options = () => [...list.querySelectorAll('a')]

function choose(next) {
  selected = next
  for (const [i, node] of options().entries()) node.setAttribute('aria-selected', String(i === selected))
  const chosen = options()[selected]
  if (!chosen) return field.removeAttribute('aria-activedescendant')
  field.setAttribute('aria-activedescendant', chosen.id)
  chosen.scrollIntoView({ block: 'nearest' })
}

function close() {
  list.hidden = true
  selected = -1
  field.setAttribute('aria-expanded', 'false')
  field.removeAttribute('aria-activedescendant')
}

function handleKey(event) {
  if (event.key === 'Escape') return close()
  const all = options()
  if (list.hidden || !all.length) return
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (event.key === 'Enter') all[selected].click()
  if (!step && event.key !== 'Enter') return
  event.preventDefault()
  if (step) choose((selected + step + all.length) % all.length)
}

function focusByKey(event) {
  const hasModifier = event.ctrlKey || event.metaKey
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
  if (!(hasModifier && event.key === 'k') && !(event.key === '/' && !hasModifier && !isTyping)) return
  event.preventDefault()
  // The field is always visible, so the page must not scroll to it.
  field.focus({ preventScroll: true })
  field.select()
}
