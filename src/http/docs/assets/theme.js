// Runs before the first paint, so the wrong colors never flash. The console stores its theme under the same name.
try {
  document.documentElement.dataset.theme = localStorage.getItem('assay.theme') ?? 'auto'
} catch {
  // Without storage the system theme applies.
}
