import { render } from "preact"
import { App } from "./App.tsx"
import "uplot/dist/uPlot.min.css"
import "./console.css"

const root = document.getElementById("console")
if (root !== null) render(<App />, root)
