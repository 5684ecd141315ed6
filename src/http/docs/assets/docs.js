import { element, say } from './page.js'
import { offerSearch } from './search.js'

showPlace()
offerThemes()
offerCopies()
followReading()
offerSearch()

/** Scrolls the navigation to the current page. */
function showPlace() {
  const side = document.querySelector('aside.side')
  const here = side.querySelector('[aria-current]')
  if (here) side.scrollTop = here.offsetTop - side.clientHeight / 2
}

function offerThemes() {
  const names = { auto: '◐', light: '☀', dark: '☾' }
  const root = document.documentElement
  const button = document.getElementById('theme')
  const show = () => {
    const now = root.dataset.theme
    button.textContent = names[now] ?? names.auto
    button.setAttribute('aria-label', `Theme: ${now}. Change`)
  }
  button.hidden = false
  button.addEventListener('click', () => {
    const all = Object.keys(names)
    root.dataset.theme = all[(all.indexOf(root.dataset.theme) + 1) % all.length]
    localStorage.setItem('assay.theme', root.dataset.theme)
    show()
    say(`Theme: ${root.dataset.theme}`)
  })
  show()
}

function offerCopies() {
  for (const box of document.querySelectorAll('.code:not(.answer)')) {
    const button = element('button', 'Copy', { type: 'button', class: 'copy', 'aria-label': 'Copy this code' })
    const code = box.querySelector('code')
    button.addEventListener('click', async () => {
      await copy(code)
      button.textContent = 'Copied'
      say('Copied')
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
    box.append(button)
  }
}

/** Browsers offer the clipboard API over https only; over http, copying the selection works. */
async function copy(code) {
  if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent)
  getSelection().selectAllChildren(code)
  document.execCommand('copy')
}

/** Marks the current section in the list of sections. */
function followReading() {
  const links = [...document.querySelectorAll('.contents a')]
  const places = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  if (!links.length) return
  const mark = () => {
    const passed = places.filter((place) => place && place.getBoundingClientRect().top < 120).length
    for (const [i, link] of links.entries()) link.setAttribute('aria-current', String(i === Math.max(passed - 1, 0)))
  }
  addEventListener('scroll', mark, { passive: true })
  mark()
}
