// Before anything is drawn, so that nobody sees the other colours first. The console keeps its choice under the same name.
try {
  document.documentElement.dataset.theme = localStorage.getItem('assay.theme') ?? 'auto'
} catch {
  // A browser that keeps nothing shows what the system has.
}
