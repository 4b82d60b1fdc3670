"""Prints the seconds of a call, as JSON: `operators.py live|torch|onnxruntime LAUNCHES`.

A graph of LAUNCHES kernels takes vectors and a factor and gives vectors and numbers. It is launched as it was captured, or
called as an operator, with inputs that are there and outputs that are new.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import inkle as wp

COUNT, CALLS, BATCHES = 64, 200, 60


@wp.kernel
def scale(x: wp.array(dtype=wp.vec3), s: wp.array(dtype=float), y: wp.array(dtype=wp.vec3), n: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * s[0]
    n[i] = wp.length(x[i])


def captured(launches):
    x, s = wp.zeros(COUNT, dtype=wp.vec3, device="cpu"), wp.zeros(1, dtype=float, device="cpu")
    y, n = wp.zeros(COUNT, dtype=wp.vec3, device="cpu"), wp.zeros(COUNT, dtype=float, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        for _ in range(launches):
            wp.launch(scale, dim=COUNT, inputs=[x, s], outputs=[y, n], device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.inkle")
        wp.capture_save(capture.graph, path, inputs={"x": x, "s": s}, outputs={"y": y, "n": n})
        return capture.graph, path.read_bytes()


def torch_call(file):
    import torch

    import inkle.torch

    inkle.torch.load()
    bundle = torch.frombuffer(bytearray(file), dtype=torch.uint8)
    inputs = [torch.ones(COUNT, 3), torch.ones(1)]
    replay = torch.ops.inkle.replay.default
    return lambda: replay(bundle, inputs, "")


def onnx_call(file):
    import onnx
    import onnxruntime

    import inkle.onnx

    helper, kinds = onnx.helper, onnx.TensorProto
    node = helper.make_node("Replay", ["bundle", "x", "s"], ["y", "n"], domain=inkle.onnx.DOMAIN)
    blob = helper.make_tensor("bundle", kinds.UINT8, [len(file)], file, raw=True)
    shapes = {"x": [COUNT, 3], "s": [1], "y": [COUNT, 3], "n": [COUNT]}
    values = {name: helper.make_tensor_value_info(name, kinds.FLOAT, shape) for name, shape in shapes.items()}
    graph = helper.make_graph([node], "graph", [values["x"], values["s"]], [values["y"], values["n"]], [blob])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(inkle.onnx.DOMAIN, inkle.onnx.VERSION)]
    options = onnxruntime.SessionOptions()
    inkle.onnx.register(options)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    inputs = {"x": np.ones((COUNT, 3), dtype=np.float32), "s": np.ones(1, dtype=np.float32)}
    return lambda: session.run(None, inputs)


def main():
    wp.config.quiet = True
    graph, file = captured(int(sys.argv[2]))
    calls = {"live": lambda _: lambda: wp.capture_launch(graph), "torch": torch_call, "onnxruntime": onnx_call}
    call = calls[sys.argv[1]](file)
    batches = []
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        batches.append((time.perf_counter() - start) / CALLS)
    print(json.dumps({"call_s": min(batches)}))


main()
