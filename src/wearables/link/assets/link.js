const field = document.getElementById('q')
const list = document.getElementById('sources')
const count = document.getElementById('count')

/** The list follows what is typed; without this script the button does the same. */
if (field && list && count) {
  const choices = [...list.querySelectorAll('a')]
  const narrow = () => {
    const wanted = field.value.trim().toLowerCase()
    const shown = choices.filter((choice) => {
      const fits = choice.dataset.name.includes(wanted)
      choice.parentElement.hidden = !fits
      return fits
    })
    count.textContent = shown.length === 1 ? '1 source' : `${shown.length} sources`
  }
  document.getElementById('go').hidden = true
  field.addEventListener('input', narrow)
  field.form.addEventListener('submit', (event) => event.preventDefault())
}
