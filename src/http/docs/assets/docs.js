import { announce, element } from './page.js'
import { addSearch } from './search.js'

scrollToCurrentPage()
addThemeButton()
addCopyButtons()
highlightCurrentSection()
addSearch()

function scrollToCurrentPage() {
  const side = document.querySelector('aside.side')
  const current = side.querySelector('[aria-current]')
  if (current) side.scrollTop = current.offsetTop - side.clientHeight / 2
}

function addThemeButton() {
  const icons = { auto: '◐', light: '☀', dark: '☾' }
  const root = document.documentElement
  const all = Object.keys(icons)
  const nextTheme = (theme) => all[(all.indexOf(theme) + 1) % all.length]
  const button = document.getElementById('theme')
  const show = () => {
    const theme = root.dataset.theme
    button.textContent = icons[theme] ?? icons.auto
    button.setAttribute('aria-label', `Theme: ${theme}. Change to ${nextTheme(theme)}`)
  }
  button.hidden = false
  button.addEventListener('click', () => {
    root.dataset.theme = nextTheme(root.dataset.theme)
    localStorage.setItem('assay.theme', root.dataset.theme)
    show()
    announce(`Theme: ${root.dataset.theme}`)
  })
  show()
}

function addCopyButtons() {
  for (const box of document.querySelectorAll('.code:not(.output)')) {
    const button = element('button', 'Copy', { type: 'button', class: 'copy', 'aria-label': 'Copy this code' })
    const code = box.querySelector('code')
    button.addEventListener('click', async () => {
      await copy(code)
      button.textContent = 'Copied'
      announce('Copied')
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
    box.append(button)
  }
}

/** Browsers offer the clipboard API over HTTPS only; over HTTP, copying the selection works. */
async function copy(code) {
  if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent)
  getSelection().selectAllChildren(code)
  document.execCommand('copy')
}

function highlightCurrentSection() {
  const links = [...document.querySelectorAll('.contents a')]
  const sections = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  if (!links.length) return
  const highlight = () => {
    const passed = sections.filter((section) => section && section.getBoundingClientRect().top < 120).length
    for (const [i, link] of links.entries()) link.setAttribute('aria-current', String(i === Math.max(passed - 1, 0)))
  }
  addEventListener('scroll', highlight, { passive: true })
  highlight()
}
