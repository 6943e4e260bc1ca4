// A button with `data-copy` copies the text of the element of that id.

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-copy]") : null
  if (button === null) return
  const source = document.getElementById(button.dataset.copy)
  let said = "Copied"
  try {
    await navigator.clipboard.writeText(source.textContent)
  } catch {
    // Without https there is no clipboard: the text is selected for the keyboard.
    getSelection().selectAllChildren(source)
    said = "Selected"
  }
  button.textContent = said
  document.getElementById("announce").textContent = said
  setTimeout(() => {
    button.textContent = "Copy"
  }, 1500)
})
