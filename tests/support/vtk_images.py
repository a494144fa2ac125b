"""Images of VTK files, as VTK's own reader sees them."""


def read_image(path):
    """Return the image of a .vti or .pvti file and its cell data [..., x, y, z] by name."""
    from vtkmodules import vtkIOXML
    from vtkmodules.util.numpy_support import vtk_to_numpy

    is_index = str(path).endswith(".pvti")
    reader = vtkIOXML.vtkXMLPImageDataReader() if is_index else vtkIOXML.vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    shape = [n - 1 for n in image.GetDimensions()]
    fields = {}
    for k in range(image.GetCellData().GetNumberOfArrays()):
        array = image.GetCellData().GetArray(k)
        values = vtk_to_numpy(array).reshape(*shape[::-1], -1).T
        fields[array.GetName()] = values[0] if len(values) == 1 else values
    return image, fields


def time_of(image):
    """Return the times that an image has."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(image.GetFieldData().GetArray("TimeValue")).tolist()
