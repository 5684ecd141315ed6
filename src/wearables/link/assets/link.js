const field = document.getElementById('q')
const list = document.getElementById('sources')
const count = document.getElementById('count')

/** Filters the list while the user types. Without JavaScript, the search button filters it. */
if (field && list && count) {
  const choices = [...list.querySelectorAll('a')]
  const filter = () => {
    const query = field.value.trim().toLowerCase()
    const visible = choices.filter((choice) => {
      const matches = choice.dataset.name.includes(query)
      choice.parentElement.hidden = !matches
      return matches
    })
    count.textContent = visible.length === 1 ? '1 source' : `${visible.length} sources`
  }
  document.getElementById('go').hidden = true
  field.addEventListener('input', filter)
  field.form.addEventListener('submit', (event) => event.preventDefault())
}
