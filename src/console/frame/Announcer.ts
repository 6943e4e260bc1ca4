/** Says a message to screen readers through the live region of the page. */
export const announce = (message: string) => {
  const region = document.getElementById("announce")
  if (region !== null) region.textContent = message
}
